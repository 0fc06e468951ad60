import Foundation

/// A pseudoterminal.
struct PseudoTerminal {
    struct Unavailable: Error { var code: Int32 }

    /// The end that the tool writes to.
    let toolEnd: FileHandle
    /// The end that the test reads the output from.
    let outputEnd: FileHandle

    init(columns: UInt16 = 80) throws {
        let (master, name) = try Self.master()
        outputEnd = FileHandle(fileDescriptor: master, closeOnDealloc: true)
        let slave = open(name, O_RDWR | O_NOCTTY | O_CLOEXEC)
        guard slave >= 0 else { throw Unavailable(code: errno) }
        toolEnd = FileHandle(fileDescriptor: slave, closeOnDealloc: true)
        // Keep line breaks unchanged.
        var mode = termios()
        tcgetattr(slave, &mode)
        mode.c_oflag &= ~tcflag_t(OPOST)
        tcsetattr(slave, TCSANOW, &mode)
        var size = winsize(ws_row: 24, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0)
        _ = ioctl(slave, UInt(TIOCSWINSZ), &size)
    }

    #if os(Linux)
        /// Opens a pseudoterminal without `posix_openpt` and the computed ioctl macros, which Swift's Glibc module
        /// hides (ioctl_tty(2)).
        private static func master() throws -> (descriptor: Int32, name: String) {
            let (setLock, getNumber) = (UInt(0x4004_5431), UInt(0x8004_5430))
            let master = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
            var number: Int32 = 0
            guard master >= 0, ioctl(master, setLock, &number) == 0, ioctl(master, getNumber, &number) == 0 else {
                throw Unavailable(code: errno)
            }
            return (master, "/dev/pts/\(number)")
        }
    #else
        private static func master() throws -> (descriptor: Int32, name: String) {
            let master = posix_openpt(O_RDWR | O_NOCTTY)
            guard master >= 0, grantpt(master) == 0, unlockpt(master) == 0, let name = ptsname(master) else {
                throw Unavailable(code: errno)
            }
            return (master, String(cString: name))
        }
    #endif
}
