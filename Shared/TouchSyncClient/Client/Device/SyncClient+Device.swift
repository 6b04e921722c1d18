#if canImport(Network)
    import Foundation
    import Network
    #if canImport(UIKit)
        import UIKit
    #endif

    extension SyncClient {
        /// Tells the client of the device's networks, and on iOS of the app's trips to the background, until it ends: once
        /// is enough. Without it the app calls `networkReturned`, `networkLost`, `foregrounded` and `backgrounded`.
        public nonisolated func followDevice() {
            let isFirst = self.isFollowingDevice.withLock { isFollowing in
                defer { isFollowing = true }
                return !isFollowing
            }
            guard isFirst else { return }
            self.tasks.start { [weak self] in
                for await path in NWPathMonitor() { self?.networkChanged(path.status) }
            }
            #if canImport(UIKit)
                self.follow(UIApplication.didEnterBackgroundNotification) { $0.backgrounded() }
                self.follow(UIApplication.willEnterForegroundNotification) { $0.foregrounded() }
            #endif
        }

        private nonisolated func networkChanged(_ status: NWPath.Status) {
            switch status {
            case .satisfied: self.networkReturned()
            case .unsatisfied: self.networkLost()
            // An attempt to connect may bring one.
            case .requiresConnection: break
            @unknown default: break
            }
        }

        #if canImport(UIKit)
            private nonisolated func follow(
                _ name: Notification.Name, _ tell: @escaping @Sendable (SyncClient) -> Void
            ) {
                self.tasks.start { [weak self] in
                    for await _ in NotificationCenter.default.notifications(named: name) {
                        if let self { tell(self) }
                    }
                }
            }
        #endif
    }
#endif
