import Foundation

/// Asks the terminal what it can do.
enum TerminalQuery {
    /// How long the answer may take, in tenths of a second.
    private static let patience: UInt8 = 2

    /// Whether the terminal says that it understands sixels; false where input or output is none.
    static var hasSixels: Bool {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1 else { return false }
        // One that is in the background would be stopped.
        guard tcgetpgrp(STDIN_FILENO) == getpgrp() else { return false }
        var before = termios()
        guard tcgetattr(STDIN_FILENO, &before) == 0 else { return false }
        // The answer comes as if it had been typed: it is neither to be shown nor to wait for a line's end.
        var silent = before
        silent.c_lflag &= ~tcflag_t(ICANON | ECHO)
        withUnsafeMutableBytes(of: &silent.c_cc) { characters in
            characters[Int(VMIN)] = 0
            characters[Int(VTIME)] = patience
        }
        guard tcsetattr(STDIN_FILENO, TCSAFLUSH, &silent) == 0 else { return false }
        defer { tcsetattr(STDIN_FILENO, TCSANOW, &before) }
        // Primary device attributes (ECMA-48, section 8.3.24).
        guard (try? StandardOutput.write("\u{1B}[c")) != nil else { return false }
        var answer: [UInt8] = []
        var byte: UInt8 = 0
        while answer.count < 100, read(STDIN_FILENO, &byte, 1) == 1 {
            answer.append(byte)
            if byte == UInt8(ascii: "c") { break }
        }
        return namesSixels(String(decoding: answer, as: UTF8.self))
    }

    /// Whether an answer such as `ESC [ ? 6 2 ; 4 c` has sixels, number 4, among the terminal's abilities.
    static func namesSixels(_ answer: String) -> Bool {
        guard answer.hasPrefix("\u{1B}[?"), answer.hasSuffix("c") else { return false }
        return answer.dropFirst(3).dropLast().split(separator: ";").dropFirst().contains("4")
    }
}
