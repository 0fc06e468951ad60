import Afar
import Foundation

extension CurlCommand {
    /// What the tool would send.
    ///
    /// - Parameter options: What curl is to do beside sending.
    init(_ plan: RequestPlan, _ sending: SendingOptions, options: [String]) {
        let body: Body? = plan.body.map { body in body.path.map { .file(path: $0) } ?? .data(body.bytes) }
        self.init(method: plan.method.rawValue, url: plan.url, headers: plan.headers, body: body)
        isDecoding = plan.headers["Accept-Encoding"] == nil
        maximumRedirects = sending.follow ? sending.maxRedirects ?? SessionConfiguration.default.maximumRedirects : nil
        let timeout = sending.timeout.map { ["--max-time", Self.seconds($0)] } ?? []
        let retries = sending.retry > 0 ? ["--retry", "\(sending.retry)", "--retry-connrefused"] : []
        self.options = timeout + retries + options
    }

    /// As curl reads it, which knows no exponents and takes 0 for no limit.
    private static func seconds(_ seconds: Double) -> String {
        seconds.rounded() == seconds ? String(Int(seconds)) : String(format: "%.3f", max(0.001, seconds))
    }
}
