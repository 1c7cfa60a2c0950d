# 8. Page
take book/src/lea.md book/src/SUMMARY.md
