"""Rows of Xente's payments, and a file of them."""

import csv

from spadework_research.datasets.xente import COLUMNS

ROW = {
    "TransactionId": "TransactionId_76871",
    "BatchId": "BatchId_36123",
    "AccountId": "AccountId_3957",
    "SubscriptionId": "SubscriptionId_887",
    "CustomerId": "CustomerId_4406",
    "CurrencyCode": "UGX",
    "CountryCode": "256",
    "ProviderId": "ProviderId_6",
    "ProductId": "ProductId_10",
    "ProductCategory": "airtime",
    "ChannelId": "ChannelId_3",
    "Amount": "1000.0",
    "Value": "1000",
    "TransactionStartTime": "2018-11-15T02:18:49Z",
    "PricingStrategy": "2",
    "FraudResult": "0",
}
LATER = ROW | {
    "ProviderId": "ProviderId_4",
    "ProductId": "ProductId_6",
    "ProductCategory": "financial_services",
    "ChannelId": "ChannelId_2",
    "Amount": "-20.0",
    "Value": "20",
    "TransactionStartTime": "2018-11-18T23:00:00Z",
    "PricingStrategy": "4",
    "FraudResult": "1",
}


def write(path, rows, columns=COLUMNS):
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, columns, extrasaction="ignore")
        writer.writeheader()
        writer.writerows(rows)
    return path
