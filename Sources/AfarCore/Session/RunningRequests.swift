/// What has been started and is not over, and who waits for some of that to end: a pure value.
///
/// What is to be called is returned, since nobody's code is called under the lock that this stands behind.
struct RunningRequests<Subject: AnyObject & Sendable> {
    typealias Proceed = @Sendable () -> Void

    private struct Waiting {
        var subjects: Set<ObjectIdentifier>
        let proceed: Proceed
    }

    private var subjects: [ObjectIdentifier: Subject] = [:]
    private var waiting: [Waiting] = []

    var all: [Subject] { Array(subjects.values) }

    mutating func insert(_ subject: Subject) { subjects[ObjectIdentifier(subject)] = subject }

    /// - Returns: What is to be called now.
    mutating func remove(_ subject: Subject) -> [Proceed] {
        subjects[ObjectIdentifier(subject)] = nil
        guard !waiting.isEmpty else { return [] }
        for index in waiting.indices { waiting[index].subjects.remove(ObjectIdentifier(subject)) }
        return takeReady()
    }

    /// Has a closure called when none of these is running any more.
    ///
    /// - Returns: What is to be called now.
    mutating func whenOver(_ subjects: [Subject], _ proceed: @escaping Proceed) -> [Proceed] {
        let running = Set(subjects.map(ObjectIdentifier.init)).intersection(self.subjects.keys)
        waiting.append(Waiting(subjects: running, proceed: proceed))
        return takeReady()
    }

    /// Takes out those who have nothing to wait for any more.
    private mutating func takeReady() -> [Proceed] {
        let ready = waiting.filter(\.subjects.isEmpty)
        if !ready.isEmpty { waiting.removeAll(where: \.subjects.isEmpty) }
        return ready.map(\.proceed)
    }
}
