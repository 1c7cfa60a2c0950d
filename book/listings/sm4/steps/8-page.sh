# 8. Page
take book/src/sm4.md book/src/SUMMARY.md
