import Foundation

/// A system library that is loaded at run time.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Loads the library for the lifetime of the process. Returns nil if the system doesn't have it.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// Returns a function of the library. `Function` must be its type, with the C calling convention.
    func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
