import Sync

/// The model a database is to have.
struct ChosenModel {
    let model: SyncModel
    /// What was added to it for the JSON's sake, in lines.
    var remarks: [VisibleText] = []

    /// Says what was added, which is true only once the database has taken it.
    func announce() {
        for line in remarks { Terminal.writeError(line) }
    }
}
