import Foundation
import SyncCore

/// A sequence of payloads that share most of their records, with writes of others between them.
struct FingerprintCase {
    enum Step {
        /// - Parameter isLone: Whether the payload is the first record in no array.
        case sync(
            entity: String, records: [JSONValue], isLone: Bool, options: SyncOptions, operations: SyncOperations)
        /// So many statements, by a seed.
        case writes(count: Int, seed: UInt64)
        /// Something done to what the store keeps for its fingerprints, by a seed.
        case damage(seed: UInt64)
    }

    let model: SyncModel
    var steps: [Step]

    static func random(_ random: inout SplitMix64) throws -> FingerprintCase {
        let namesOnce = random.chance(70)
        let kinds = PropertyKinds.all.union(.partedKeys)
            .union(random.chance(30) ? [.contradictions, .ordersFromBothSides] : [])
        let plain = try ModelGenerator.model(&random, kinds)
        var payloads = PayloadGenerator(&random, plain, kinds, namesOnce: namesOnce, keyCount: 6 + random.below(25))
        let entities = plain.compiled.entities.filter { $0.isKeyed && !$0.isAbstract }
        let main = random.pick(entities)
        var last: [String: [JSONValue]] = [:]
        var steps: [Step] = []
        for _ in 0..<(3 + random.below(5)) {
            if random.chance(30) { steps.append(.writes(count: 1 + random.below(3), seed: random.next())) }
            if random.chance(12) { steps.append(.damage(seed: random.next())) }
            let entity = random.chance(75) ? main : random.pick(entities)
            let records = next(after: last[entity.name], &random) { payloads.records(of: entity, count: $0) }
            last[entity.name] = records
            var options = SyncOptions(scope: random.chance(20) ? .all : .automatic)
            if random.chance(20) { options.payload = .delta }
            if random.chance(5) { options.isStrict = true }
            let operations = random.chance(8) ? SyncOperations(rawValue: 1 + random.below(63)) : .all
            let lone = random.chance(10) ? records.randomElement(using: &random) : nil
            steps.append(
                .sync(
                    entity: entity.name, records: lone.map { [$0] } ?? records, isLone: lone != nil, options: options,
                    operations: operations))
        }
        return FingerprintCase(model: plain, steps: steps)
    }

    /// A payload much like the one before: some records changed, gone, new, repeated or elsewhere.
    private static func next(
        after last: [JSONValue]?, _ random: inout SplitMix64, _ new: (Int) -> [JSONValue]
    ) -> [JSONValue] {
        guard var records = last else { return new(2 + random.below(10)) }
        if random.chance(25) { return records }
        let fresh = (0..<(1 + random.below(3))).flatMap { _ in new(1) }
        for record in fresh {
            switch random.below(4) {
            case 0 where !records.isEmpty: records[random.below(records.count)] = record
            case 1 where !records.isEmpty: records.insert(record, at: random.below(records.count))
            case 2 where !records.isEmpty: records.remove(at: random.below(records.count))
            default: records.append(record)
            }
        }
        if random.chance(15), !records.isEmpty { records.append(random.pick(records)) }
        if random.chance(20) { records.shuffle(using: &random) }
        return records
    }

    /// The model with or without fingerprints, of all its entities.
    func model(fingerprints: Bool) throws -> SyncModel {
        try SyncModel(
            entities: model.entities.map { entity in
                var entity = entity
                entity.keepsFingerprints = fingerprints
                return entity
            })
    }
}

extension FingerprintCase: CustomStringConvertible {
    var description: String {
        let schema = String(decoding: model.schemaFile(), as: UTF8.self)
        let line = schema.split(separator: "\n").map { $0.drop { $0 == " " } }.joined(separator: " ")
        return line + "\n" + steps.map(\.description).joined(separator: "\n")
    }
}

extension FingerprintCase.Step: CustomStringConvertible {
    var description: String {
        switch self {
        case .sync(let entity, let records, let isLone, let options, let operations):
            let isDelta = if case .delta = options.payload { " delta" } else { "" }
            let scope = options.scope == .all ? " all" : ""
            return "\(entity)\(isDelta)\(scope) \(operations == .all ? "" : "\(operations.rawValue)") "
                + String(decoding: records.payload(isLone: isLone), as: UTF8.self)
        case .writes(let count, let seed): return "\(count) writes \(seed)"
        case .damage(let seed): return "damage \(seed)"
        }
    }
}

extension [JSONValue] {
    func payload(isLone: Bool) -> Data {
        var text: [UInt8] = []
        JSONText.append(isLone ? first ?? .object([]) : .array(self), to: &text)
        return Data(text)
    }
}
