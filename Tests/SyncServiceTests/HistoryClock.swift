import Foundation
import GRDB
import Sync
import SyncCore

@testable import SyncService

/// The time of a random history, the random keys of its devices, and the order of concurrent requests. The seed decides
/// them, so that a history repeats.
///
/// The time advances at each edit and at each change or pull of the service. A read does not advance it. Each step of a
/// history has its own random numbers.
final class HistoryClock: Sendable {
    private struct State {
        /// Milliseconds since 1970.
        var time: Int64 = 1_790_000_000_000
        var step: UInt64 = 0
        var numbers: SeededNumbers
        var keys: [Int: SeededNumbers] = [:]
    }

    /// A number that varies the keys, times and faults of all histories: `SYNC_HISTORY_SALT`.
    static let salt = ProcessInfo.processInfo.environment["SYNC_HISTORY_SALT"].flatMap { UInt64($0) } ?? 0

    private let seed: UInt64
    private let state: Locked<State>

    init(seed: UInt64) {
        self.seed = seed &* 0xA076_1D64_78BD_642F &+ Self.salt &* 0xE703_7ED1_A0B4_28DB
        state = Locked(State(numbers: SeededNumbers(state: self.seed)))
    }

    // MARK: Time

    /// The current time, in milliseconds since 1970.
    var now: Int64 { state.withLock { $0.time } }
    var date: Date { Date(timeIntervalSince1970: Double(now) / 1000) }

    /// Begins another step.
    func begin(step: Int) {
        state.withLock { state in
            state.step = UInt64(step) &+ 1
            state.numbers = SeededNumbers(state: seed &+ state.step &* 0x8EBC_6AF0_9C88_C6E3)
            state.keys = [:]
        }
    }

    /// Advances the time. In some cases the time stays, because two events may have the same time.
    @discardableResult
    func advance() -> Date {
        state.withLock { state in
            state.time += [0, 1, 1, 2, 5, 30, 400][Int(state.numbers.next() % 7)]
        }
        return date
    }

    /// Advances the time by a duration.
    func advance(by duration: Duration) {
        let (seconds, attoseconds) = duration.components
        state.withLock { $0.time += seconds * 1000 + attoseconds / 1_000_000_000_000_000 }
    }

    // MARK: Devices

    /// The clock of an engine. Delays advance the time, and no lease is renewed meanwhile.
    var ofEngine: EngineClock {
        var clock = EngineClock()
        clock.now = { [self] in date }
        clock.sleep = { [self] in advance(by: $0) }
        clock.beat = { try await Task.sleep(for: .seconds(1_000_000)) }
        clock.random = { 0 }
        clock.order = { [self] count in
            state.withLock { state in (0..<count).shuffled(using: &state.numbers) }
        }
        return clock
    }

    /// Gives the store of a device this time and random keys of the seed.
    ///
    /// - Parameter index: The number of the device, whose keys differ from those of the other devices.
    func install(in stack: DataStack, _ index: Int) throws {
        try stack.write { db in
            db.add(
                function: DatabaseFunction("julianday", argumentCount: 1) { [self] _ in
                    // The division must not yield an earlier millisecond.
                    (Double(now) + 0.5) / 86_400_000 + 2_440_587.5
                })
            db.add(
                function: DatabaseFunction("randomblob", argumentCount: 1) { [self] values in
                    bytes(Int.fromDatabaseValue(values[0]) ?? 0, of: index)
                })
        }
    }

    private func bytes(_ count: Int, of index: Int) -> Data {
        state.withLock { state in
            let start = seed &* 31 &+ state.step &* 0x5899_65CC_7537_4CC3 &+ UInt64(index) &* 0x1D8E_4E27_C47D_124F
            var numbers = state.keys[index] ?? SeededNumbers(state: start)
            defer { state.keys[index] = numbers }
            return Data((0..<count).map { _ in UInt8(truncatingIfNeeded: numbers.next()) })
        }
    }
}
