import Foundation
import TestServers

/// A preloaded library that overrides C library functions in a separate process, so that they fail or are slow on
/// demand.
enum Shim {
    private static let source = """
        #define _GNU_SOURCE
        #include <dlfcn.h>
        #include <errno.h>
        #include <netdb.h>
        #include <pthread.h>
        #include <stdatomic.h>
        #include <string.h>
        #include <unistd.h>

        static atomic_int milliseconds, lookups, running, most;
        static __thread int has_no_threads;

        void afar_shim_set_delay(int value) { atomic_store(&milliseconds, value); }
        int afar_shim_lookups(void) { return atomic_load(&lookups); }
        int afar_shim_most_lookups(void) { return atomic_load(&most); }
        void afar_shim_refuse_threads(int value) { has_no_threads = value; }

        static void count_running(int change) {
            int now = atomic_fetch_add(&running, change) + change;
            int seen = atomic_load(&most);
            while (now > seen && !atomic_compare_exchange_weak(&most, &seen, now)) {}
        }

        // Names that end in ".test" are those of 127.0.0.1; "missing" ones are not known, "slow" ones take a while,
        // "later" ones from the second look-up on.
        int getaddrinfo(const char *name, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
            int (*real)(const char *, const char *, const struct addrinfo *, struct addrinfo **) =
                dlsym(RTLD_NEXT, "getaddrinfo");
            const char *ending = name ? strrchr(name, '.') : NULL;
            // Calls that accept only numeric addresses aren't lookups.
            if (!ending || strcmp(ending, ".test") || (hints && hints->ai_flags & AI_NUMERICHOST))
                return real(name, service, hints, result);
            int number = atomic_fetch_add(&lookups, 1);
            count_running(1);
            // The first one ends when there is a second.
            if (strstr(name, "later") && number == 0)
                while (atomic_load(&lookups) < 2) usleep(5000);
            if (strstr(name, "slow") || (strstr(name, "later") && number > 0))
                for (int passed = 0; passed < atomic_load(&milliseconds); passed += 5) usleep(5000);
            int code = strstr(name, "missing") ? EAI_NONAME : real("127.0.0.1", service, hints, result);
            count_running(-1);
            return code;
        }

        int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *context) {
            int (*real)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *) =
                dlsym(RTLD_NEXT, "pthread_create");
            return has_no_threads ? EAGAIN : real(thread, attributes, run, context);
        }
        """

    // MARK: In the process with the shim

    /// Whether this process has loaded the shim.
    static let isLoaded = dlsym(nil, "afar_shim_lookups") != nil

    private static func function<Function>(_ name: String, as type: Function.Type) -> Function? {
        dlsym(nil, name).map { unsafeBitCast($0, to: type) }
    }

    /// Sets the duration of slow lookups, including those already running.
    static func setDelay(milliseconds: Int32) {
        function("afar_shim_set_delay", as: (@convention(c) (Int32) -> Void).self)?(milliseconds)
    }

    /// The number of lookups that have started.
    static var lookupCount: Int {
        Int(function("afar_shim_lookups", as: (@convention(c) () -> Int32).self)?() ?? 0)
    }

    /// The largest number of lookups that have run at the same time.
    static var mostConcurrentLookups: Int {
        Int(function("afar_shim_most_lookups", as: (@convention(c) () -> Int32).self)?() ?? 0)
    }

    /// Runs `body` while thread creation fails.
    static func withoutThreads<Value>(_ body: () throws -> Value) rethrows -> Value {
        let refuse = function("afar_shim_refuse_threads", as: (@convention(c) (Int32) -> Void).self)
        refuse?(1)
        defer { refuse?(0) }
        return try body()
    }

    // MARK: In the parent process

    /// The path of a C compiler, if one is installed.
    static let compiler: String? = {
        let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin").split(separator: ":")
        return ["cc", "clang", "gcc"].lazy.flatMap { name in folders.map { "\($0)/\(name)" } }
            .first { access($0, X_OK) == 0 }
    }()

    /// Runs a test of this program over the current transport in a process with the shim.
    ///
    /// - Returns: The process's output and whether it succeeded.
    static func run(test: String) async throws -> (output: String, isGood: Bool) {
        let folder = FileManager.default.temporaryDirectory.appending(path: "afar-shim-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let (code, library) = (folder.appending(path: "shim.c").path, folder.appending(path: "shim.so").path)
        try Data(source.utf8).write(to: URL(filePath: code))
        let program = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
        let command = """
            exec 2>&1
            '\(compiler ?? "cc")' -shared -fPIC -pthread -o '\(library)' '\(code)' -ldl || exit
            export AFAR_TRANSPORT=\(TestedTransport.current)
            LD_PRELOAD='\(library)' exec '\(program)' --testing-library swift-testing --filter '\(test)'
            """
        return await withCheckedContinuation { continuation in
            // Foundation's Process doesn't support many descriptors. `popen` blocks.
            DispatchQueue.global().async {
                guard let output = popen(command, "re") else {
                    return continuation.resume(returning: ("no shell: \(errno)", false))
                }
                var text = ""
                while let line = readLine(from: output) { text += line }
                continuation.resume(returning: (text, pclose(output) == 0))
            }
        }
    }

    private static func readLine(from file: UnsafeMutablePointer<FILE>) -> String? {
        var line: UnsafeMutablePointer<CChar>?
        var size = 0
        defer { free(line) }
        guard getline(&line, &size, file) > 0, let line else { return nil }
        return String(cString: line)
    }
}
