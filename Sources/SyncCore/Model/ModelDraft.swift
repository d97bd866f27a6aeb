/// What a model source declares, before it is checked, with what was wrong in the source itself.
package struct ModelDraft: Sendable {
    package var entities: [SyncModel.Entity]
    /// What it says about the keys of all of them.
    package var rules: KeyRules
    /// What could not be read.
    package var problems: [SyncError.Problem]
    /// Entities and members (`User`, `User.company`) of which something could not be read. They are not blamed for
    /// what follows from that.
    package var unreadable: Set<String>

    package init(
        entities: [SyncModel.Entity] = [], rules: KeyRules = KeyRules(), problems: [SyncError.Problem] = [],
        unreadable: Set<String> = []
    ) {
        self.entities = entities
        self.rules = rules
        self.problems = problems
        self.unreadable = unreadable
    }

    mutating func note(_ path: ModelPath, _ message: String) {
        problems.append(SyncError.Problem(path: path.text, message: message))
    }
}
