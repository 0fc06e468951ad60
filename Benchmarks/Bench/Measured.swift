/// The JSON result that a client prints.
struct Measured: Decodable {
    let requests: Int
    /// The sum of the values that the requests returned.
    let yield: Int
    let seconds: Double
    let cpuSeconds: Double
    /// The number of voluntary context switches.
    let switches: Int
    let peakKilobytes: Int
}
