/// The command-line options.
struct Options {
    /// The fraction of the requests to make.
    var scale = 1.0
    /// The seed of the random numbers.
    var seed: UInt64 = 1
    /// The first word of the title of the only trial to run, or `nil` for all trials.
    var only: String?

    static let help = """
        Soak: makes a large number of requests. Nothing may leak, and each request must complete exactly once.

          --scale N   multiplies the number of requests by N (default: 1); 0.01 is a quick check
          --seed N    sets the seed for the random moments of cancellation (default: 1)
          --only W    runs only one trial: Tiny, Failing, Cancelled, Storm, libcurl or URLSession
        """

    /// Parses the arguments. Returns `nil` if one of them is unknown or invalid.
    init?(_ arguments: some Collection<String>) {
        var rest = arguments[...]
        while let name = rest.popFirst() {
            switch (name, rest.popFirst()) {
            case ("--scale", let text?):
                guard let scale = Double(text), (0.001...100).contains(scale) else { return nil }
                self.scale = scale
            case ("--seed", let text?):
                guard let seed = UInt64(text) else { return nil }
                self.seed = seed
            case ("--only", let text?): only = text
            default: return nil
            }
        }
    }
}
