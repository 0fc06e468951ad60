/// What a client prints.
struct Measured: Decodable {
    let requests: Int
    /// What the requests returned, added up.
    let yield: Int
    let seconds: Double
    let cpuSeconds: Double
    /// How often a thread fell asleep.
    let switches: Int
    let peakKilobytes: Int
}
