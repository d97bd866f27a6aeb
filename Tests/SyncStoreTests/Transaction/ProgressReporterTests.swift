import Foundation
import SyncCore
import Testing

@testable import SyncStore

@Suite("Progress of a sync")
struct ProgressReporterTests {
    private final class Notices: @unchecked Sendable {
        private let lock = NSLock()
        private var notices: [SyncProgress] = []

        func add(_ notice: SyncProgress) { lock.withLock { notices.append(notice) } }

        func take() -> [SyncProgress] {
            lock.withLock {
                defer { notices = [] }
                return notices
            }
        }
    }

    private let notices = Notices()
    private let steps: ProgressReporter

    init() { steps = ProgressReporter { [notices] in notices.add($0) } }

    @Test("Progress is reported every 4096 steps")
    func reportsAtIntervals() throws {
        for _ in 0..<4095 { try steps.advance() }
        #expect(notices.take() == [])
        for _ in 0..<4097 { try steps.advance() }
        #expect(notices.take() == [.init(.comparing, completed: 4096), .init(.comparing, completed: 8192)])
    }

    @Test("Many steps at once give one report")
    func leapGivesOneReport() throws {
        try steps.advance(by: 10_000)
        try steps.advance(by: 2287)
        #expect(notices.take() == [.init(.comparing, completed: 10_000)])
        try steps.advance()
        #expect(notices.take() == [.init(.comparing, completed: 12_288)])
    }

    @Test("Writing restarts the count, with a total until the count exceeds it")
    func writingRestartsCount() throws {
        try steps.advance(by: 4000)
        steps.beginWriting(expecting: 9000)
        try steps.advance(by: 4000)
        #expect(notices.take() == [])
        for _ in 0..<2 { try steps.advance(by: 4096) }
        #expect(
            notices.take() == [
                .init(.writing, completed: 8096, total: 9000), .init(.writing, completed: 12_192),
            ])
    }

    @Test("Progress is reported only if there is a handler")
    func reportsOnlyToHandler() throws {
        #expect(steps.hasObserver && !ProgressReporter(nil).hasObserver)
        try ProgressReporter(nil).advance(by: 5000)
    }

    @Test("A cancelled task ends the sync, with or without a handler", arguments: [true, false])
    func cancellationEndsSync(areTold: Bool) async {
        let steps = areTold ? steps : ProgressReporter(nil)
        let task = Task { [steps = UncheckedSteps(steps)] in
            withUnsafeCurrentTask { $0?.cancel() }
            try steps.steps.advance(by: 4095)
            try steps.steps.advance()
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(notices.take() == [])
    }

    @Test("A flag that becomes set ends the sync at the next report")
    func flagEndsSync() throws {
        let isCancelled = Locked(false)
        let steps = ProgressReporter(nil, CancellationFlag { isCancelled.value })
        try steps.advance(by: 4096)
        try steps.check()
        isCancelled.withLock { $0 = true }
        try steps.advance(by: 4095)
        #expect(throws: CancellationError.self) { try steps.advance() }
        #expect(throws: CancellationError.self) { try steps.check() }
    }

    private struct UncheckedSteps: @unchecked Sendable {
        let steps: ProgressReporter
        init(_ steps: ProgressReporter) { self.steps = steps }
    }
}
