/// What the command line says.
struct Options {
    /// The part of the requests that is made.
    var scale = 1.0
    /// What the random moments come from.
    var seed: UInt64 = 1
    /// The first word of the one trial that is run; nil for all.
    var only: String?

    static let help = """
        Soak: very many requests, in which nothing may leak or be answered other than once.

          --scale N   makes N times as many requests; 1 if not given, 0.01 for a look
          --seed N    chooses the random moments of cancelling; 1 if not given
          --only W    runs one trial: Tiny, Failing, Cancelled, Storm or URLSession
        """

    /// Nil when there is something else on it.
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
