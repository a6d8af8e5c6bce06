"""ResNet-18 (He et al. 2016), under the names that torchvision gives its weights."""

from torch import Tensor, nn

CODE_WIDTH = 512
"""Dimensions of the pooled code."""

MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)
"""Of ImageNet's colours, which published weights expect."""


class ResNet18(nn.Module):
    """Eight residual blocks of two convolutions on photos in the range 0 to 1.

    The state has the names and shapes of torchvision's ``resnet18``, without its linear
    head. Of photos ``(n_images, 3, height, width)``, sides of at least 32, it makes codes
    ``(n_images, 512)``, in float32 under any autocast.
    """

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, stride=2, padding=3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, stride=2, padding=1)
        self.layer1 = _stage(64, 64, stride=1)
        self.layer2 = _stage(64, 128, stride=2)
        self.layer3 = _stage(128, 256, stride=2)
        self.layer4 = _stage(256, CODE_WIDTH, stride=2)

    def feature_map(self, images: Tensor) -> Tensor:
        """Last feature map, (n_images, 512, height / 32, width / 32)."""
        mean, std = (images.new_tensor(each).view(3, 1, 1) for each in (MEAN, STD))
        x = (images - mean) / std
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        return self.layer4(self.layer3(self.layer2(self.layer1(x))))

    def forward(self, images: Tensor) -> Tensor:
        """Return the feature map's mean over positions: the code."""
        return self.feature_map(images).float().mean(dim=(2, 3))


class _Block(nn.Module):
    """Two 3 x 3 convolutions and a shortcut around them."""

    def __init__(self, n_in: int, n_out: int, stride: int) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(n_in, n_out, 3, stride=stride, padding=1, bias=False)
        self.bn1 = nn.BatchNorm2d(n_out)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(n_out, n_out, 3, padding=1, bias=False)
        self.bn2 = nn.BatchNorm2d(n_out)
        self.downsample = None
        if stride != 1 or n_in != n_out:
            self.downsample = nn.Sequential(
                nn.Conv2d(n_in, n_out, 1, stride=stride, bias=False),
                nn.BatchNorm2d(n_out),
            )

    def forward(self, x: Tensor) -> Tensor:
        """Return the block's output, at half the size where the stride is 2."""
        shortcut = x if self.downsample is None else self.downsample(x)
        x = self.relu(self.bn1(self.conv1(x)))
        return self.relu(self.bn2(self.conv2(x)) + shortcut)


def _stage(n_in: int, n_out: int, *, stride: int) -> nn.Sequential:
    """Two blocks, of which the first changes width and size."""
    return nn.Sequential(_Block(n_in, n_out, stride), _Block(n_out, n_out, 1))
