import ArgumentParser
import Sync

/// Of which entities of a configuration a command is.
struct ChosenEntities: ParsableArguments {
    @Option(help: ArgumentHelp("Only this entity. May be repeated.", valueName: "entity"))
    var only: [String] = []

    /// Nil for all.
    var names: [String]? { only.isEmpty ? nil : only }

    /// Tells whether an entity is one of them.
    ///
    /// - Parameter known: Those of the configuration.
    /// - Throws: `SyncError` `unknownEntity`.
    func filter(of known: [String]) throws -> (String) -> Bool {
        for name in only where !known.contains(name) {
            throw SyncError(
                .unknownEntity, "the engine does not keep '\(name)' in step; it does \(known.joined(separator: ", "))",
                entity: name)
        }
        return { only.isEmpty || only.contains($0) }
    }
}
