import Foundation

/// A library of the system that is looked up while the program runs.
struct SharedLibrary {
    private let handle: UnsafeMutableRawPointer

    /// Loads the library for the life of the process. Returns nil if the system doesn't have it.
    init?(_ name: String) {
        guard let handle = dlopen(name, RTLD_NOW | RTLD_LOCAL) else { return nil }
        self.handle = handle
    }

    /// A function of the library. `Function` must be its type, with the C convention.
    func function<Function>(_ name: String, as type: Function.Type = Function.self) -> Function? {
        dlsym(handle, name).map { unsafeBitCast($0, to: type) }
    }
}
