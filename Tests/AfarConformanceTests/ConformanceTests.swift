import AfarConformance
import Foundation
import Testing

@Suite struct ConformanceTests {
    @Test(arguments: ConformanceSubject.all)
    func everyTransportPasses(subject: ConformanceSubject) async throws {
        for (test, error) in await subject.failures(of: ConformanceCase.all) {
            Issue.record("\(subject): \(test): \(error)")
        }
    }

    @Test func everyExclusionNamesACase() {
        let names = Set(ConformanceCase.all.map(\.name))
        for subject in ConformanceSubject.all {
            #expect(subject.exclusions.keys.filter { !names.contains($0) } == [], "\(subject)")
        }
        #expect(names.count == ConformanceCase.all.count)
    }
}
