import SyncCore
import SyncStore

extension EngineRegistration {
    /// - Throws: ``SyncError`` `invalidOption`.
    init(_ entities: [SyncedEntity], _ service: any SyncService, _ settings: EngineSettings) throws {
        let capabilities = service.capabilities
        guard !entities.isEmpty else { throw SyncError(.invalidOption, "an engine needs an entity to keep in step") }
        var seen: Set<String> = []
        for entity in entities {
            guard seen.insert(entity.name).inserted else {
                throw SyncError(.invalidOption, "the entity is registered twice", entity: entity.name)
            }
            if (entity.policy ?? settings.policy) == .lastWriterWins, !capabilities.givesTimes {
                throw SyncError(
                    .invalidOption,
                    "lastWriterWins needs a service that says when records were changed: name its 'version'",
                    entity: entity.name)
            }
        }
        self.init(
            entities: entities.map { entity in
                Entity(
                    name: entity.name, policy: entity.policy ?? settings.policy,
                    deletions: entity.deleteConflicts ?? settings.deleteConflicts, isOneDomain: entity.isOneDomain,
                    groups: entity.groups, naturalKey: entity.naturalKey,
                    sendsCascades: entity.cascades.map { $0 == .client } ?? capabilities.sendsCascades)
            },
            service: settings.identity ?? service.identity, user: settings.user, isScopeKnown: settings.isScopeKnown,
            isImport: settings.isImport, makesIDs: capabilities.ids == .client,
            takesParts: capabilities.takesIDsOfParts, idLength: capabilities.idLength,
            sendsWholeRows: capabilities.sendsWholeRows, ordersVersions: capabilities.ordersVersions,
            marker: capabilities.marker,
            filters: Dictionary(entities.map { ($0.name, service.filter(of: $0.name)) }) { first, _ in first },
            resolver: settings.resolver)
    }

    /// The registered entities among some, or all.
    ///
    /// - Throws: ``SyncError`` `unknownEntity`.
    func names(_ only: [String]?) throws -> [String] {
        let all = entities.map(\.name)
        guard let only else { return all }
        for name in only where !all.contains(name) {
            throw SyncError(
                .unknownEntity, "the engine does not keep '\(name)' in step; it does \(ShortList(all).text)",
                entity: name)
        }
        return all.filter(only.contains)
    }
}

extension SyncReport {
    func adding(_ other: SyncReport) -> SyncReport {
        var sum = self
        sum.add(other)
        return sum
    }
}
