# 3. Key schedule
cp -r book/listings/lea/3/. .
git apply book/listings/lea/3.patch
