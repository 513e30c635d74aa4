"""Devices, users and their tokens."""

from .connection import code_of
from .store import Failure


class Profiles:
    """Registering, signing in and out, refreshing."""

    def refresh(self):
        """The old refresh token stays until the new one is stored: a lost response does no harm."""
        profile = self.profile
        answer = self.post("/v1/auth/refresh", {"refreshToken": profile["refresh"]})
        if answer[0] == 401:
            profile["ended"] = True
            self.save()
            raise Failure("signed_out")
        self.keep_tokens(profile, self.expect(answer))
        self.save()

    def keep_tokens(self, profile, session):
        profile.update(
            access=session["accessToken"], refresh=session["refreshToken"], userId=session["userId"],
            expiresAt=self.now() + session["expiresIn"], ended=False)

    def new_device(self):
        device = self.expect(self.post("/v1/devices", {"platform": "other", "name": "conformance"}))
        self.store.value["profiles"].append({
            "device": device["id"], "token": device["deviceToken"], "email": None, "userId": None,
            "followings": [], "outcomeCursor": None, "temporary": {}, "outbox": [], "outcomes": [],
            "responses": {}, "uploads": []})
        return len(self.store.value["profiles"]) - 1

    def replace_device(self):
        """What the former device may have submitted must not be submitted again by this one."""
        profile = self.profile
        device = self.expect(self.post("/v1/devices", {"platform": "other", "name": "conformance"}))
        profile.update(device=device["id"], token=device["deviceToken"], outcomeCursor=None)
        for following in profile["followings"]:
            following["cursor"] = None
        for item in list(profile["outbox"]):
            if item["state"] != "waiting" or item["tried"]:
                profile["outbox"].remove(item)
                self.end(profile, item, {"state": "unknown"})
        self.save()

    def find_profile(self, **members):
        for index, profile in enumerate(self.store.value["profiles"]):
            if all(profile[name] == value for name, value in members.items()):
                return index
        return None

    def register(self):
        self.deliver_owed()
        if self.store.value["active"] is None:
            found = self.find_profile(userId=None)
            self.store.value["active"] = self.new_device() if found is None else found
            self.save()
        return {"device": self.profile["device"]}

    def sign_in_at(self, path, email, password):
        self.deliver_owed()
        index = self.find_profile(email=email)
        if index is None:
            index = self.find_profile(userId=None)
        if index is None:
            index = self.new_device()
            self.save()
        for _ in range(2):
            profile = self.store.value["profiles"][index]
            credentials = {"email": email, "password": password}
            answer = self.post(path, credentials, {"Device-Token": profile["token"]})
            if answer[0] != 403 or code_of(answer) != "device_of_another_user":
                break
            index = self.new_device()
            self.save()
        self.keep_tokens(profile, self.expect(answer))
        profile["email"] = email
        self.store.value["active"] = index
        self.save()
        return {"userId": profile["userId"]}

    def signUp(self, email, password):
        return self.sign_in_at("/v1/auth/sign-up", email, password)

    def signIn(self, email, password):
        return self.sign_in_at("/v1/auth/sign-in", email, password)

    def signOut(self):
        profile = self.profile
        if profile.get("refresh"):
            self.store.value["owed"].append({"refreshToken": profile["refresh"], "token": profile["token"]})
        profile.update(access=None, refresh=None)
        self.store.value["active"] = None
        self.save()
        try:
            self.deliver_owed()
        except Failure:
            return {"sent": False}
        return {"sent": True}

    def deliver_owed(self):
        """Tells the server of sign-outs that it has not heard of."""
        while self.store.value["owed"]:
            owed = self.store.value["owed"][0]
            answer = self.post("/v1/auth/sign-out", {"refreshToken": owed["refreshToken"]},
                               {"Device-Token": owed["token"]})
            if answer[0] >= 500 or answer[0] == 429:
                raise Failure("unavailable")
            self.store.value["owed"].pop(0)
            self.save()
