// Sounds and videos play at this window alone: a video moves its picture, a sound is a little tune that is made here.

import { isCalm } from "./page.js";
import { numberOf } from "./values.js";

/**
 * Semitones above the lowest tone; null is a rest.
 * @type {(number | null)[][]}
 */
const TUNES = [
  [0, 7, 12, 7, 4, 7, 12, null, 2, 9, 14, 9, 5, 9, 14, null],
  [0, 4, 7, 5, 9, 12, 7, 11, 14, 12, 7, 4],
  [12, null, 7, 9, null, 4, 7, null, 2, null, 4, 0],
];
const LOWEST = 261.63;

/** @type {AudioContext | undefined} */
let context;
/**
 * What plays, since when, and how it is stopped.
 * @type {{id: string, card: HTMLElement, since: number, seconds: number, stop: () => void} | undefined}
 */
let playing;

/** @param {number} tune @param {number} seconds @returns {() => void} stops it */
function tones(tune, seconds) {
  context ??= new AudioContext();
  const volume = context.createGain(), notes = TUNES[tune % TUNES.length] ?? TUNES[0], length = seconds / notes.length;
  volume.gain.value = 0.12;
  volume.connect(context.destination);
  notes.forEach((note, index) => {
    if (note === null || !context) return;
    const tone = context.createOscillator(), shape = context.createGain(), at = context.currentTime + index * length;
    tone.type = "triangle";
    tone.frequency.value = LOWEST * 2 ** (note / 12);
    shape.gain.setValueAtTime(0, at);
    shape.gain.linearRampToValueAtTime(1, at + 0.02);
    shape.gain.exponentialRampToValueAtTime(0.01, at + length * 1.4);
    tone.connect(shape).connect(volume);
    tone.start(at);
    tone.stop(at + length * 1.5);
  });
  return () => volume.disconnect();
}

/**
 * Plays an element, or stops it when it plays.
 * @param {import("/client/touchsync.js").Element} element @param {HTMLElement} card
 */
export function play(element, card) {
  const isSame = playing?.id === element.id;
  playing?.stop();
  if (isSame) return;
  const seconds = Math.min(Math.max(numberOf(element.seconds, 6), 1), 30);
  const silence = element.type === "audio" ? tones(numberOf(element.tune, 0), seconds) : () => {};
  const timer = setTimeout(() => playing?.stop(), seconds * 1000);
  playing = {
    id: element.id, card, since: performance.now(), seconds,
    stop() {
      const last = playing?.card;
      playing = undefined;
      clearTimeout(timer);
      silence();
      if (last) show(element.id, last);
    },
  };
  show(element.id, card);
}

/**
 * Shows on a card whether its element plays, after it was drawn anew, too.
 * @param {string} id @param {HTMLElement} card
 */
export function show(id, card) {
  const isPlaying = playing?.id === id, button = card.querySelector(".play");
  card.classList.toggle("playing", isPlaying);
  button?.setAttribute("aria-label", isPlaying ? "Stop" : "Play");
  button?.setAttribute("title", isPlaying ? "Stop" : "Play");
  if (!playing || !isPlaying) return;
  playing.card = card;
  card.classList.toggle("calm", isCalm());
  card.style.setProperty("--seconds", `${playing.seconds}s`);
  card.style.setProperty("--played", `${(playing.since - performance.now()) / 1000}s`);
}

/**
 * An element has gone: nothing of it is heard any more.
 * @param {string} id
 */
export function end(id) {
  if (playing?.id === id) playing.stop();
}
