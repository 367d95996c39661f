"""Debian packages by what their descriptions mean, on Spark: a column of embeddings, compared by cosine.

    python examples/engines/packages_on_spark.py FOLDER [MASTER]

FOLDER holds packages.parquet and packages-minilm.npy, the embeddings of the descriptions (see the gallery). MASTER is
that of your cluster, by default two executors on this machine. Needs silverbirch[spark] and Java 17. Each cell, from
one `# %%` to the next, can be run on its own in a notebook.
"""

# %% A session with two executors in processes of their own. They run the Python of this script.
import os
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as sql

import silverbirch.spark

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
master = sys.argv[2] if len(sys.argv) > 2 else "local-cluster[2,1,1024]"
spark = SparkSession.builder.master(master).config("spark.ui.enabled", "false").getOrCreate()
spark.sparkContext.setLogLevel("ERROR")

# %% One table: names, sections, and the embedding of each description as an array.
folder = Path(sys.argv[1])
table = pq.read_table(folder / "packages.parquet")
embeddings = np.load(folder / "packages-minilm.npy").astype(np.float32)
lists = pa.FixedSizeListArray.from_arrays(pa.array(embeddings.ravel()), embeddings.shape[1])
packages = spark.createDataFrame(table.append_column("embedding", lists.cast(pa.list_(pa.float32())))).repartition(8)
print(f"{packages.count():,} packages, {embeddings.shape[1]} columns")

# %% An estimator of pyspark.ml. Tasks aggregate, executors merge; the driver clusters the features that are left.
betula = silverbirch.spark.Betula(featuresCol="embedding", predictionCol="group", metric="cosine")
model = betula.setParams(n_clusters=12, max_leaves=1000).fit(packages)
print(f"{model.counts_['rows']:,} rows, {len(model.to_local().features_):,} features")

# %% A column of labels beside all others. What is in a group? Its most frequent sections.
labelled = model.transform(packages).select("group", "name", "section").cache()
counts = labelled.groupBy("group", "section").count()
for group in range(12):
    sections = counts.where(sql.col("group") == group).orderBy(sql.desc("count"), "section").limit(4).collect()
    number = counts.where(sql.col("group") == group).agg(sql.sum("count")).first()[0]
    print(f"{group:3} {number:6,}  " + ", ".join(f"{row['section']} {row['count'] / number:.0%}" for row in sections))

# %% The model in one file: `silverbirch.load` reads it without Spark, `BetulaModel.load` here and elsewhere.
model.write().overwrite().save("packages.sb")
again = silverbirch.spark.BetulaModel.load("packages.sb")
print("the same labels again:", again.transform(packages).exceptAll(model.transform(packages)).count() == 0)
spark.stop()
