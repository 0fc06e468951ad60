/// What a client prints.
struct Measured: Decodable {
    let requests: Int
    /// What the requests returned, added up.
    let yield: Int
    let seconds: Double
    let cpuSeconds: Double
    /// Voluntary context switches.
    let switches: Int
    let peakKilobytes: Int
}
