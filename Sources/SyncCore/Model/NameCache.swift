import Foundation

/// The names of those entities of a model that somebody asked for.
///
/// `@unchecked Sendable`: `known` is only touched while `lock` is held.
final class NameCache: @unchecked Sendable {
    private let lock = NSLock()
    private var known: [Int: EntityNames] = [:]

    func names(of entity: CompiledEntity, in model: CompiledModel) -> EntityNames {
        lock.withLock {
            if let names = known[entity.id] { return names }
            let names = EntityNames(entity, of: model)
            known[entity.id] = names
            return names
        }
    }
}
