import Dispatch
import Foundation
import Glibc

/// The elapsed time and the resources that this process has used.
package struct Usage {
    package let seconds: Double
    package let cpuSeconds: Double
    /// The number of voluntary context switches.
    package let switches: Int

    package static var now: Usage {
        var usage = rusage()
        getrusage(RUSAGE_SELF.rawValue, &usage)
        let time = DispatchTime.now().uptimeNanoseconds
        return Usage(
            seconds: Double(time) / 1e9, cpuSeconds: seconds(usage.ru_utime) + seconds(usage.ru_stime),
            switches: Int(usage.ru_nvcsw))
    }

    /// The process's peak resident memory (VmHWM).
    package static var peakKilobytes: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }

    private static func seconds(_ time: timeval) -> Double {
        Double(time.tv_sec) + Double(time.tv_usec) / 1e6
    }
}
