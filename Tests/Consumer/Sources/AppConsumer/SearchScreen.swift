import Afar

/// Closures that use an app's main actor, although Afar can call them on any thread. As with Alamofire, the compiler
/// must accept these closures with a warning. They aren't in a test target, because tests treat warnings as errors.
@MainActor final class SearchScreen {
    private var count = 0

    private func note(_ key: String) -> String {
        count += 1
        return key
    }

    func encoders() -> [URLEncodedFormEncoder] {
        [
            URLEncodedFormEncoder(arrayEncoding: .custom { key, index in self.note("\(key)\(index)") }),
            URLEncodedFormEncoder(dataEncoding: .custom { data in self.note("\(data.count)") }),
            URLEncodedFormEncoder(dateEncoding: .custom { date in self.note("\(date)") }),
            URLEncodedFormEncoder(keyEncoding: .custom { key in self.note(key) }),
        ]
    }

    func encoding() -> URLEncoding {
        URLEncoding(arrayEncoding: .custom { key, _ in self.note(key) })
    }

    func redirector() -> Redirector {
        Redirector(behavior: .modify { _, request, _ in self.note("redirect").isEmpty ? nil : request })
    }
}
