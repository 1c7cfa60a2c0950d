# 1. Vectors
take 'vectors/sm4_*.txt' vectors/big/sm4.txt vectors/mct/sm4.txt vectors/README.md
(cd vectors && sha256sum *.txt */*.txt acvp/*/*.json | LC_ALL=C sort -k 2 > SHA256SUMS)
