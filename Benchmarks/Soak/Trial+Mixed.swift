import Afar
import Foundation

extension Trial {
    /// Requests over HTTP/2, except those to servers that run scripts.
    static func http2(_ stage: Stage, requests: Int, seed: UInt64) -> Trial {
        mixed(stage, session: stage.http2Session, stage.http2URL, title: "HTTP/2", requests: requests, seed: seed)
    }

    /// Requests over libcurl.
    static func libcurl(_ stage: Stage, requests: Int, seed: UInt64) -> Trial {
        mixed(stage, session: stage.curlSession, stage.url, title: "libcurl", requests: requests, seed: seed)
    }

    /// Requests over Foundation's URLSession.
    ///
    /// The memory and connections that Foundation keeps are reported but don't affect the result.
    static func urlSession(_ stage: Stage, requests: Int, seed: UInt64) -> Trial {
        var trial = mixed(
            stage, session: stage.urlSession, stage.url, title: "URLSession", requests: requests, seed: seed)
        trial.checksResources = false
        return trial
    }

    /// Requests with a mix of challenges, redirects, resets, truncated bodies and cancellations.
    private static func mixed(
        _ stage: Stage, session: Session, _ nginxURL: @escaping @Sendable (String) -> String, title: String,
        requests: Int, seed: UInt64
    ) -> Trial {
        Trial(title: title, requests: requests, warmUp: requests / 2) { number, ledger in
            var dice = Dice(seed: seed, request: number)
            let paths = ["/record", "/private", "/redirect", "/500", "/large"]
            let scripts: [Script] = [.closesBeforeTheHead, .closesWithinTheBody, .resetsWithinTheBody, .redirects]
            let isScripted = Int.random(in: 0..<4, using: &dice) == 0
            let url =
                isScripted
                ? stage.scripts.url(scripts.randomElement(using: &dice) ?? .redirects)
                : nginxURL(paths.randomElement(using: &dice) ?? "/record")
            let isCancelled = Int.random(in: 0..<5, using: &dice) == 0
            let pause = UInt64.random(in: 0...3_000_000, using: &dice)
            let request = session.request(url).authenticate(username: "ada", password: "engine").validate()
            async let over: Void = request.observe(as: number, in: ledger) { (result: AFResult<Record>) in
                switch result {
                case .success: .expected("succeeded")
                case .failure(.explicitlyCancelled): isCancelled ? .expected("cancelled") : .unexpected("cancelled")
                case .failure(.responseSerializationFailed): .expected("not a record")
                case .failure(.responseValidationFailed): .expected("not valid")
                case .failure(let error):
                    isScripted || isCancelled
                        ? .expected("failed in transit") : .unexpected(error.localizedDescription)
                }
            }
            if isCancelled {
                try? await Task.sleep(nanoseconds: pause)
                request.cancel()
            }
            await over
        }
    }
}
