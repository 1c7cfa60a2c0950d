# 1. Vectors
take 'vectors/lea_*.txt' vectors/big/lea.txt vectors/mct/lea.txt vectors/README.md
(cd vectors && sha256sum *.txt */*.txt acvp/*/*.json | LC_ALL=C sort -k 2 > SHA256SUMS)
