internal import CLinux
internal import Glibc

/// The user that a daemon runs as. Started as root, it becomes another user for good, or refuses to start, unless it is
/// allowed to stay root.
package enum ProcessUser {
    package struct Account: Sendable, Equatable {
        package let name: String
        /// The user's id and that of its main group.
        package let user: UInt32
        package let group: UInt32
        /// The home folder, where libraries look for files of their own.
        package let home: String

        package init(name: String, user: UInt32, group: UInt32, home: String) {
            self.name = name
            self.user = user
            self.group = group
            self.home = home
        }

        /// Looks it up by name; nil when there is none.
        package init?(named name: String) {
            guard let entry = getpwnam(name)?.pointee else { return nil }
            self.init(
                name: name, user: entry.pw_uid, group: entry.pw_gid,
                home: entry.pw_dir.map { String(cString: $0) } ?? "/")
        }
    }

    /// True when the process has, or can have again, the rights of root.
    package static var isRoot: Bool { getuid() == 0 || geteuid() == 0 }

    /// Applies the settings `user` and `allow-root`. Call it before anything is opened that the daemon itself makes:
    /// sockets and ports then belong to the user. All threads of the process change together (setuid(2), NPTL).
    /// - Throws: why the daemon may not run.
    static func settle(user name: String?, allowsRoot: Bool) throws(SettingProblem) {
        let account = name.flatMap(Account.init(named:))
        switch try self.step(to: name, account, isRoot: self.isRoot, current: geteuid(), allowsRoot: allowsRoot) {
        case .stay: break
        case .become(let account): try self.become(account)
        }
    }

    /// What the settings demand of a process.
    enum Step: Equatable {
        case stay
        case become(Account)
    }

    /// - Parameters:
    ///   - name: the setting `user`.
    ///   - account: its account; nil when there is none.
    ///   - current: the process's effective user id.
    static func step(
        to name: String?, _ account: Account?, isRoot: Bool, current: UInt32, allowsRoot: Bool
    ) throws(SettingProblem) -> Step {
        guard let name else {
            guard !isRoot || allowsRoot else {
                throw self.problem("is required when started as root; --allow-root lets the daemon run as root")
            }
            return .stay
        }
        guard let account else { throw self.problem("names \(name), which is no user of this machine") }
        guard isRoot else {
            guard account.user == current else { throw self.problem("needs to be started as root, or as \(name)") }
            return .stay
        }
        guard account.user != 0 else {
            guard allowsRoot else { throw self.problem("names root itself; --allow-root lets the daemon run as root") }
            return .stay
        }
        return .become(account)
    }

    private static func problem(_ complaint: String) -> SettingProblem {
        SettingProblem(subject: SharedSettings.user.flag, complaint: complaint, source: nil)
    }

    /// Groups first: without root's rights they could not be changed any more.
    private static func become(_ account: Account) throws(SettingProblem) {
        guard initgroups(account.name, account.group) == 0, setgid(account.group) == 0, setuid(account.user) == 0 else {
            throw self.problem("cannot become \(account.name): \(FileBytes.reason(errno))")
        }
        let isGone = getuid() == account.user && geteuid() == account.user && getegid() == account.group
        // Nothing of root may be left to return to.
        guard isGone, setuid(0) != 0, seteuid(0) != 0 else {
            throw self.problem("could become root again; the system did not give up the rights of root")
        }
        setenv("HOME", account.home, 1)
        // The kernel hides /proc/self of a process that changed its user, also from itself: no metrics, no backtraces.
        linux_show_own_process()
    }
}
