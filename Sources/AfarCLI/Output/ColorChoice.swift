import ArgumentParser

/// What `--color` can be.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    case auto
    case always
    case never
}
