/// The JSON result that a thumbnail process prints.
struct Figures: Codable {
    /// The wall-clock time.
    let seconds: Double
    /// The processor time of all threads.
    let cpuSeconds: Double
    /// The process's peak resident memory (VmHWM).
    let peakKilobytes: Int
    /// The total size of all thumbnails in bytes. Reading it ensures that the work isn't optimized away.
    let bytes: Int
}
