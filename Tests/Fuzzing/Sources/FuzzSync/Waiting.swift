import Dispatch
import FuzzSupport

/// Waits for an asynchronous closure, because fuzz targets are synchronous.
func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) -> Value {
    let answer = Answer<Value>()
    Task {
        do {
            answer.value = try await body()
        } catch {
            fail("\(error)")
        }
        answer.isThere.signal()
    }
    answer.isThere.wait()
    guard let value = answer.value else { fail("no answer") }
    return value
}

/// Unchecked: the value is read after the semaphore was signalled.
private final class Answer<Value: Sendable>: @unchecked Sendable {
    let isThere = DispatchSemaphore(value: 0)
    var value: Value?
}
