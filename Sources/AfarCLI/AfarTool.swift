#if !Tool
    #error("The tool afar needs the trait Tool: build it with make, or with --enable-all-traits")
#endif
import Afar
import ArgumentParser
