import ArgumentParser

/// What `--color` can be.
enum ColorChoice: String, CaseIterable, ExpressibleByArgument {
    /// On a terminal, unless NO_COLOR is set.
    case auto
    /// Wherever the output goes.
    case always
    case never
}
