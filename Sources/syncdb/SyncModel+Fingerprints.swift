import Sync

extension SyncModel {
    /// The same model, in which an entity keeps fingerprints. One that is not there is left for the sync to tell.
    func keepingFingerprints(of name: String) throws -> SyncModel {
        var entities = self.entities
        guard let place = entities.firstIndex(where: { $0.name == name }), !entities[place].keepsFingerprints else {
            return self
        }
        entities[place].keepsFingerprints = true
        return try replacing(entities: entities)
    }
}
