"""The library as verbs see it: each module loads when a verb first uses it.

So help and refusals come at once, and a table needs nothing that pictures need.
"""

from typing import TYPE_CHECKING

from spadework.lazy import LazyModule

if TYPE_CHECKING:
    from spadework import (
        budgets,
        calls,
        detector,
        differences,
        evaluation,
        explain,
        export,
        labels,
        lost_columns,
        persistence,
        report,
        scoring,
        table_fitting,
        table_model,
        validation,
    )
    from spadework.images import detector as image_detector
    from spadework.images import photos
    from spadework.images import reading as photo_reading
    from spadework.images import scoring as photo_scoring
    from spadework.learners import trees
    from spadework.report import pictures as picture_report
    from spadework.tables import reading
else:
    budgets = LazyModule("spadework.budgets")
    calls = LazyModule("spadework.calls")
    detector = LazyModule("spadework.detector")
    differences = LazyModule("spadework.differences")
    evaluation = LazyModule("spadework.evaluation")
    explain = LazyModule("spadework.explain")
    export = LazyModule("spadework.export")
    image_detector = LazyModule("spadework.images.detector")
    labels = LazyModule("spadework.labels")
    lost_columns = LazyModule("spadework.lost_columns")
    persistence = LazyModule("spadework.persistence")
    photo_reading = LazyModule("spadework.images.reading")
    photo_scoring = LazyModule("spadework.images.scoring")
    photos = LazyModule("spadework.images.photos")
    picture_report = LazyModule("spadework.report.pictures")
    reading = LazyModule("spadework.tables.reading")
    report = LazyModule("spadework.report")
    scoring = LazyModule("spadework.scoring")
    table_fitting = LazyModule("spadework.table_fitting")
    table_model = LazyModule("spadework.table_model")
    trees = LazyModule("spadework.learners.trees")
    validation = LazyModule("spadework.validation")
