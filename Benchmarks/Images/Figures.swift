/// What a process that makes thumbnails prints, as JSON.
struct Figures: Codable {
    /// The time that passed.
    let seconds: Double
    /// The processor time of all threads.
    let cpuSeconds: Double
    /// The most memory that the process has held (VmHWM).
    let peakKilobytes: Int
    /// All thumbnails together, so that none is made for nothing.
    let bytes: Int
}
