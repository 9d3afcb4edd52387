case $- in
    *i*) ;;
      *) return;;
esac
