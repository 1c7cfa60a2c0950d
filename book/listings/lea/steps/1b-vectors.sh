# 1. Vectors
cp -r book/listings/lea/1/. .
git apply book/listings/lea/1.patch
(cd vectors && sed -i '/lea_/d' SHA256SUMS && sha256sum lea_*.txt >> SHA256SUMS)
