import Foundation

/// Whether fingerprints are of use for a call, and what they mean for it.
package struct FingerprintUse: Sendable {
    /// Changes with how records are mapped: an older library's fingerprints say nothing.
    private static let version = 2

    package let entity: String
    /// What the records' bytes mean: by which model and where in the payload.
    package let meaning: RecordHash

    /// Nil where they are not: the entity does not keep any, the payload does not speak for the whole entity, what its
    /// records may do is restricted, code of the app decides what they mean, or every contradiction is to be found.
    package init?(
        _ entity: CompiledEntity, of model: SyncModel, _ operations: SyncOperations, _ options: SyncOptions,
        isPartial: Bool
    ) {
        guard !isPartial, operations == .all, options.willInsert == nil, options.payload.run == nil, options.isPlain,
            !options.isStrict, !options.explainsContradictions, model.entities[entity.id].keepsFingerprints,
            !Self.hasForeignCode(entity, model)
        else { return nil }
        self.entity = entity.name
        var text = Array(model.schemaFile())
        text += "\(Self.version) \(options.form.rawValue) \(options.keyPath.count)".utf8
        // Made anew for each call, so any fixed seed will do.
        let hasher = RecordHasher(seed: RecordHash(low: 0x5379_6E63, high: 0x4A53_4F4E))
        meaning = text.withUnsafeBytes { hasher.hash($0) }
    }

    /// Whether a transformer of the app decides about values that records of an entity can have. Its code may be another
    /// next time.
    private static func hasForeignCode(_ entity: CompiledEntity, _ source: SyncModel) -> Bool {
        let model = source.compiled
        var tables: Set<TableID> = [entity.table]
        var waiting = [entity.table]
        while let table = waiting.popLast() {
            if model[table].attributes.contains(where: source.hasForeignCode) { return true }
            for id in model[table].entities {
                for relationship in model.entities[id].relationships {
                    let next = model.entities[relationship.destination].table
                    if tables.insert(next).inserted { waiting.append(next) }
                }
            }
        }
        return false
    }
}
