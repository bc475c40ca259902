#compdef folkmoot
# zsh completion for folkmoot
_folkmoot() {
  local -a lines values shown
  local line paths=none
  lines=("${(@f)$(folkmoot __complete zsh "${(@)words[2,CURRENT]}" 2> /dev/null)}")
  for line in "${lines[@]}"; do
    if [[ $line == :* ]]; then
      paths=${line#:}
    elif [[ -n $line ]]; then
      values+=("${line%%$'\t'*}")
      shown+=("${line/$'\t'/  }")
    fi
  done
  (( ${#values} )) && compadd -l -d shown -a values
  case $paths in
    files) _files ;;
    folders) _files -/ ;;
  esac
}
if [[ ${zsh_eval_context[-1]} == loadautofunc ]]; then
  _folkmoot "$@"
else
  compdef _folkmoot folkmoot
fi
