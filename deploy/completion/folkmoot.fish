# fish completion for folkmoot
function __folkmoot_complete
    set -l words (commandline -opc) (commandline -ct)
    set -l paths none
    for line in (folkmoot __complete fish $words[2..-1] 2> /dev/null)
        if string match -q ':*' -- $line
            set paths (string sub -s 2 -- $line)
        else
            echo $line
        end
    end
    switch $paths
        case files
            __fish_complete_path (commandline -ct)
        case folders
            __fish_complete_directories (commandline -ct)
    end
end
complete -c folkmoot -f -a '(__folkmoot_complete)'
