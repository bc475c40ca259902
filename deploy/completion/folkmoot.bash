# bash completion for folkmoot
_folkmoot() {
  local cur=${COMP_WORDS[COMP_CWORD]} line value paths=none
  COMPREPLY=()
  while IFS= read -r line; do
    case $line in
      :*) paths=${line#:} ;;
      *)
        value=${line%%$'\t'*}
        COMPREPLY+=("$(printf %q "$value")")
        ;;
    esac
  done < <(folkmoot __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
  [[ $cur == '=' ]] && cur=
  local kind=-f
  [[ $paths == none ]] && return
  [[ $paths == folders ]] && kind=-d
  compopt -o filenames 2> /dev/null
  while IFS= read -r line; do COMPREPLY+=("$line"); done < <(compgen $kind -- "$cur")
}
complete -F _folkmoot folkmoot
