import Foundation
import Sync

/// Measures the parts of a sync separately.
struct Pieces {
    private let model: SyncModel
    private let entity: String
    private let json: Data
    /// Rows to store before, because the payload references them by ID only.
    var storedBefore: (entity: String, json: Data)?

    init(model: String, entity: String, payload: String) throws {
        self.model = try SyncModel(contentsOf: URL(fileURLWithPath: model))
        self.entity = entity
        json = try contents(payload)
    }

    func measure() async throws -> [Measurement] {
        try await reading() + ValueKind.allCases.asyncMap { try await $0.measure() } + stored()
    }

    private func reading() async throws -> [Measurement] {
        let stack = try DataStack.inMemory(model)
        let records = try NativeRecords.read(json).count
        let bytes = try await median(of: 5) {
            try await Staging.secondsPerByte(json, inEntity: entity, stack: stack)
        }
        let native = try await median(of: 3) {
            try await Staging.secondsPerNativeRecord(json, inEntity: entity, stack: stack)
        }
        // A small payload is mapped before its first progress report.
        guard bytes.isFinite, native.isFinite else { return [] }
        return [
            Measurement(name: "parse and stage bytes", value: 1e-6 / bytes, unit: "MB/s"),
            Measurement(name: "stage [[String: Any]]", value: native * 1e6, unit: "µs per record"),
            Measurement(
                name: "stage [[String: Any]], of the time of bytes",
                value: native * Double(records) / (bytes * Double(json.count)), unit: "×"),
        ]
    }

    private func stored() async throws -> [Measurement] {
        let stack = try DataStack.inMemory(model)
        if let storedBefore {
            try await Sync.changes(storedBefore.json, inEntity: storedBefore.entity, stack: stack)
        }
        try await Sync.changes(json, inEntity: entity, stack: stack)
        let records = try NativeRecords.read(json).count
        let shuffled = try shuffledPayload()
        let sorted = try await noOp(json, stack)
        let unsorted = try await noOp(shuffled, stack)
        let native = try await median(of: 3) {
            let records = try NativeRecords.read(json)
            return try await seconds { try await Sync.changes(records, inEntity: entity, stack: stack) }
        }
        let export = try await median(of: 3) {
            try await seconds { _ = try exportedBytes(stack) }
        }
        let exported = try exportedBytes(stack)
        return [
            Measurement(name: "no-op in memory", value: sorted / Double(records) * 1e6, unit: "µs per record"),
            Measurement(
                name: "no-op in memory, records shuffled", value: unsorted / Double(records) * 1e6,
                unit: "µs per record"),
            Measurement(name: "no-op of [[String: Any]], of the time of bytes", value: native / sorted, unit: "×"),
            Measurement(name: "export from memory", value: Double(exported) / export * 1e-6, unit: "MB/s"),
        ]
    }

    private func exportedBytes(_ stack: DataStack) throws -> Int {
        var count = 0
        try stack.writeExport(entity) { count += $0.count }
        return count
    }

    private func noOp(_ payload: Data, _ stack: DataStack) async throws -> Double {
        try await median(of: 5) {
            try await seconds { try await Sync.changes(payload, inEntity: entity, stack: stack) }
        }
    }

    private func seconds(_ work: () async throws -> Void) async throws -> Double {
        let clock = ContinuousClock()
        let start = clock.now
        try await work()
        return start.duration(to: clock.now).seconds
    }

    /// Returns the payload in a random, reproducible order.
    private func shuffledPayload() throws -> Data {
        guard case .array(var records) = try JSONValue(parsing: json) else { throw NativeRecords.NotRecords() }
        var state: UInt64 = 42
        for index in records.indices.dropFirst().reversed() {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            records.swapAt(index, Int(state >> 33) % (index + 1))
        }
        return try JSONEncoder().encode(JSONValue.array(records))
    }
}

extension Sequence {
    func asyncMap<Value>(_ transform: (Element) async throws -> Value) async throws -> [Value] {
        var values: [Value] = []
        for element in self { values.append(try await transform(element)) }
        return values
    }
}
