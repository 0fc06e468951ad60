import CLibxml2

/// libxml2's global state.
enum Library {
    /// Called before anything else of libxml2 is: it must be set up before threads use it. It is never cleaned up, because
    /// others in the process may use it too.
    static func prepare() { _ = isReady }

    private static let isReady: Bool = {
        xmlInitParser()
        return true
    }()
}
