/// Compares texts line by line.
enum TextDifference {
    typealias Line = ResponseDifference.Line

    /// The maximum number of lines that are compared, not including the common lines at the beginning and the end. The time and
    /// memory for a comparison grow with the square of the number of different lines.
    static let limit = 2000
    /// The number of common lines to show around a difference.
    static let context = 3

    /// Returns the differences of two texts with the lines around them.
    static func lines(_ first: String, _ second: String) -> [Line] {
        let (old, new) = (split(first), split(second))
        let start = zip(old, new).prefix { $0 == $1 }.count
        let common = zip(old[start...].reversed(), new[start...].reversed()).prefix { $0 == $1 }.count
        let (oldMiddle, newMiddle) = (old[start..<old.count - common], new[start..<new.count - common])
        guard oldMiddle.count <= limit, newMiddle.count <= limit else {
            return [
                .title("body"),
                .note(
                    "The bodies have \(old.count) and \(new.count) lines and differ from line \(start + 1) on. They are "
                        + "compared line by line only if at most \(limit) lines lie between the first difference and the last."
                ),
            ]
        }
        // Numbers are compared faster than long lines with the same beginning.
        var numbers: [ArraySlice<UInt8>: Int] = [:]
        func number(_ line: ArraySlice<UInt8>) -> Int {
            let number = numbers[line] ?? numbers.count
            numbers[line] = number
            return number
        }
        let difference = newMiddle.map(number).difference(from: oldMiddle.map(number))
        var removed: Set<Int> = []
        var inserted: Set<Int> = []
        for change in difference {
            switch change {
            case .remove(let offset, _, _): removed.insert(start + offset)
            case .insert(let offset, _, _): inserted.insert(start + offset)
            }
        }
        return hunks(old, new, removed, inserted, start: max(0, start - context))
    }

    /// Splits a text into lines, each with its line break. Bytes are compared, because equal Swift strings can have different bytes.
    private static func split(_ text: String) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var rest = Array(text.utf8)[...]
        while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
            lines.append(rest[...end])
            rest = rest[(end + 1)...]
        }
        return rest.isEmpty ? lines : lines + [rest]
    }

    /// Returns the changed lines in groups that begin with their line numbers.
    private static func hunks(
        _ old: [ArraySlice<UInt8>], _ new: [ArraySlice<UInt8>], _ removed: Set<Int>, _ inserted: Set<Int>, start: Int
    ) -> [Line] {
        var result: [Line] = []
        var (oldIndex, newIndex) = (start, start)
        var hunk = Hunk(old: start, new: start)
        var commonRun = 0
        while oldIndex < old.count || newIndex < new.count {
            if oldIndex < old.count, removed.contains(oldIndex) {
                hunk.lines += lines(of: old[oldIndex]) { .first($0) }
                (oldIndex, commonRun) = (oldIndex + 1, 0)
                hunk.oldCount += 1
                hunk.isChanged = true
            } else if newIndex < new.count, inserted.contains(newIndex) {
                hunk.lines += lines(of: new[newIndex]) { .second($0) }
                (newIndex, commonRun) = (newIndex + 1, 0)
                hunk.newCount += 1
                hunk.isChanged = true
            } else if oldIndex < old.count, newIndex < new.count {
                commonRun += 1
                if hunk.isChanged, commonRun > 2 * context {
                    // The last lines belong to the next group.
                    result += hunk.text(dropping: context)
                    hunk = Hunk(old: oldIndex - context, new: newIndex - context)
                    for index in oldIndex - context..<oldIndex { hunk.addCommon(lines(of: old[index]) { .both($0) }) }
                    commonRun = context + 1
                }
                if !hunk.isChanged, commonRun > context { hunk.dropFirstCommon() }
                hunk.addCommon(lines(of: old[oldIndex]) { .both($0) })
                (oldIndex, newIndex) = (oldIndex + 1, newIndex + 1)
            } else {
                break
            }
        }
        return result + (hunk.isChanged ? hunk.text(dropping: max(0, commonRun - context)) : [])
    }

    private static func lines(of line: ArraySlice<UInt8>, _ make: (String) -> Line) -> [Line] {
        guard line.last == UInt8(ascii: "\n") else {
            return [make(String(decoding: line, as: UTF8.self)), .note("No newline at the end")]
        }
        return [make(String(decoding: line.dropLast(), as: UTF8.self))]
    }

    /// Changes that are close to each other, and the lines around them.
    private struct Hunk {
        /// The index of the first line in the first text.
        var old: Int
        /// The index of the first line in the second text.
        var new: Int
        var oldCount = 0
        var newCount = 0
        var lines: [Line] = []
        var isChanged = false

        init(old: Int, new: Int) {
            self.old = old
            self.new = new
        }

        mutating func addCommon(_ line: [Line]) {
            lines += line
            oldCount += 1
            newCount += 1
        }

        mutating func dropFirstCommon() {
            lines.removeFirst()
            (old, new) = (old + 1, new + 1)
            (oldCount, newCount) = (oldCount - 1, newCount - 1)
        }

        /// Returns the title and the lines, without the last common lines.
        func text(dropping count: Int) -> [Line] {
            let (oldCount, newCount) = (oldCount - count, newCount - count)
            let title =
                "body -\(oldCount == 0 ? old : old + 1),\(oldCount) +\(newCount == 0 ? new : new + 1),\(newCount)"
            var kept = lines
            var rest = count
            while rest > 0, let last = kept.popLast() {
                if case .both = last { rest -= 1 }
            }
            return [.title(title)] + kept
        }
    }
}
