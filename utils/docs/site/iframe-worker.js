// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Browsers start no worker under file://, but the theme's search is one. There,
// a worker is a hidden frame that loads the same script: messages are passed as
// events of this object and of the frame's window.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(url) {
      super();
      this.pending = [];
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      this.frame.onload = () => this.start(new URL(url, location.href));
      document.body.append(this.frame);
    }
    start(url) {
      this.frame.onload = null;
      const page = this.frame.contentWindow;
      page.postMessage = (data) => this.send("message", { data });
      page.importScripts = (...urls) => urls.reduce((loaded, each) =>
        loaded.then(() => this.load(new URL(each, url))), Promise.resolve());
      this.load(url).then(() => {
        const pending = this.pending;
        this.pending = null;
        pending.forEach((data) => this.postMessage(data));
      }, (error) => this.send("error", { message: String(error) }));
    }
    load(url) {
      return new Promise((resolve, reject) => {
        const script = this.frame.contentDocument.createElement("script");
        script.src = url;
        script.onload = resolve;
        script.onerror = () => reject(`cannot load ${url}`);
        this.frame.contentDocument.body.append(script);
      });
    }
    // To the page, in a later task, as from a worker.
    send(type, properties) {
      setTimeout(() => {
        const event = Object.assign(new Event(type), properties);
        this.dispatchEvent(event);
        this["on" + type]?.(event);
      });
    }
    postMessage(data) {
      if (this.pending)
        return void this.pending.push(data);
      const page = this.frame.contentWindow;
      setTimeout(() =>
        page.dispatchEvent(new page.MessageEvent("message", { data })));
    }
    terminate() {
      this.frame.remove();
    }
  };
}
