import AfarCore
import Foundation
import Testing

@Suite struct DataResponseTests {
    private func response<Value>(_ result: AFResult<Value>) -> AFDataResponse<Value> {
        DataResponse(
            request: nil, response: nil, data: Data("abc".utf8), metrics: nil, serializationDuration: 0.5,
            result: result)
    }

    @Test func mappingKeepsEverythingButTheValue() {
        let mapped = response(.success(2)).map { $0 * 2 }
        #expect(mapped.value == 4)
        #expect(mapped.data == Data("abc".utf8))
        #expect(mapped.serializationDuration == 0.5)
    }

    @Test func aThrowingMapBecomesAFailure() {
        struct Odd: Error {}
        let mapped = response(.success(1)).tryMap { _ -> Int in throw Odd() }
        #expect(mapped.error is Odd)
        #expect(response(.failure(AFError.explicitlyCancelled) as AFResult<Int>).tryMap { $0 }.error is AFError)
    }

    @Test func errorsAreMapped() {
        struct Own: Error { let was: AFError }
        let mapped = response(.failure(.explicitlyCancelled) as AFResult<Int>).mapError(Own.init)
        #expect(mapped.error?.was.isExplicitlyCancelledError == true)
        let thrown = response(.failure(.explicitlyCancelled) as AFResult<Int>).tryMapError { error -> AFError in
            throw Own(was: error)
        }
        #expect(thrown.error is Own)
    }
}
